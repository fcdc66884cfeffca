"""The token endpoint of service accounts, which verifies assertions with the library google-auth. It makes a key file,
DIRECTORY/key.json, that leads to it. Usage: token_endpoint.py DIRECTORY [ACCESS_TOKEN]

`GET /` tells what it got so far: one object of JSON for each request, with the library's word on it and the claims.
`PUT /` with an object of JSON changes the answers that follow: `status`, `expires_in`, `access_token`."""

import json
import os
import sys
import threading
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt

import fault_server
import leash

GOT, LOCK = [], threading.Lock()
ANSWERS = {"status": 200, "expires_in": 3600, "access_token": (sys.argv[2:] + [None])[0]}
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


class Endpoint(fault_server.Connection):
    def one(self, method, target, headers, count):
        headers = {name.lower(): value for name, value in headers}
        body = self.body(int(headers.get("content-length", 0))).decode()
        with LOCK:
            if method == "PUT":
                ANSWERS.update(json.loads(body))
            if method != "POST":
                self.answer(200, json.dumps(GOT).encode())
                return True
            form = {name: values[0] for name, values in parse_qs(body).items()}
            try:
                claims = jwt.decode(form["assertion"], certs=PUBLIC, audience=ENDPOINT)
                verdict = "verified"
            except ValueError as error:
                claims, verdict = {}, str(error)
            if form.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
                verdict = "another grant"
            GOT.append({
                "verdict": verdict, "issuer": claims.get("iss", ""), "scope": claims.get("scope", ""),
                "seconds": claims.get("exp", 0) - claims.get("iat", 0), "type": headers.get("content-type", "")})
            status = ANSWERS["status"] if verdict == "verified" else 400
            answer = {
                "access_token": ANSWERS["access_token"] or f"token-{len(GOT)}", "expires_in": ANSWERS["expires_in"],
                "token_type": "Bearer"}
            refusal = {"error": "invalid_grant", "error_description": "SECRET told in a description"}
            self.answer(status, json.dumps(answer if status == 200 else refusal).encode())
        return True


ENDPOINT = fault_server.listen(Endpoint)
path = os.path.join(os.path.abspath(sys.argv[1]), "key.json")
with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
    json.dump({
        "type": "service_account", "project_id": "demo-photospool", "private_key_id": "0123456789abcdef",
        "private_key": KEY.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode(),
        "client_email": "photospool@demo-photospool.iam.gserviceaccount.com", "client_id": "1", "token_uri": ENDPOINT,
    }, file, indent=2)
leash.hold({"endpoint": ENDPOINT, "keyFile": path})

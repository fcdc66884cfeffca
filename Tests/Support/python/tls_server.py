"""nginx with certificates made just now: one that is good, one that has expired, one for another host, and one that is
from no authority. Usage: tls_server.py DIRECTORY [URL]

It answers by itself, or has the service at URL answer."""

import os
import subprocess
import sys

import leash

directory = os.path.abspath(sys.argv[1])
# The host is passed on as it was asked for, since S3 signs it; bodies without a file of nginx's own.
answer = 'return 200 "$ssl_protocol\\n";' if len(sys.argv) < 3 else (
    f"proxy_pass {sys.argv[2]}; proxy_http_version 1.1; proxy_set_header Host $http_host; client_max_body_size 0;"
    " proxy_request_buffering off; proxy_buffering off;")


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def certificate(name, host, days, authority=True):
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key"]
    names = f"subjectAltName=DNS:{host}"
    if not authority:
        openssl("req", "-x509", *key, "-subj", f"/CN={host}", "-addext", names, "-out", f"{name}.pem")
        return
    openssl("req", *key, "-subj", f"/CN={host}", "-out", f"{name}.csr")
    with open(f"{directory}/{name}.ext", "w") as extensions:
        extensions.write(names + "\n")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-days", str(days), "-extfile", f"{name}.ext", "-out", f"{name}.pem")


openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "authority.key",
        "-subj", "/CN=Authority of a test", "-out", "authority.pem")
certificate("good", "localhost", 1)
certificate("expired", "localhost", -1)
certificate("wronghost", "elsewhere.example.test", 1)
certificate("selfsigned", "localhost", 1, authority=False)

ports, servers = {}, ""
for name in ["good", "expired", "wronghost", "selfsigned"]:
    ports[name] = leash.free_port()
    servers += f"""
  server {{
    listen 127.0.0.1:{ports[name]} ssl;
    ssl_certificate {directory}/{name}.pem;
    ssl_certificate_key {directory}/{name}.key;
    location / {{ {answer} }}
  }}"""
with open(f"{directory}/nginx.conf", "w") as configuration:
    configuration.write(f"""
worker_processes 1;
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;{servers}
}}
""")
leash.start_nginx(directory, ports.values())
leash.serve({"authority": f"{directory}/authority.pem"} | {
    name: f"https://localhost:{port}" for name, port in ports.items()})

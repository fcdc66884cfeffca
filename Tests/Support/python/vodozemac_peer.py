#!/usr/bin/env python3
"""The other side of Olm and Megolm: vodozemac. One JSON object a line each way; bytes are unpadded base64. A refusal is
answered with `refused`."""
import base64
import json
import sys

import vodozemac

account = vodozemac.Account()
group = vodozemac.GroupSession()
sessions = {}
inbound = {}


def pack(data):
    return base64.b64encode(bytes(data)).decode().rstrip("=")


def unpack(text):
    return base64.b64decode(text + "=" * (-len(text) % 4))


def keys(order):
    """The identity keys and a new one-time key, or with `fallback` a fallback key."""
    if order.get("fallback"):
        account.generate_fallback_key()
        offered = account.fallback_key
    else:
        account.generate_one_time_keys(1)
        offered = account.one_time_keys
    account.mark_keys_as_published()
    key = next(iter(offered.values()))
    return {"curve25519": account.curve25519_key.to_base64(), "ed25519": account.ed25519_key.to_base64(),
            "oneTime": key.to_base64()}


def sign(order):
    return {"signature": account.sign(unpack(order["message"])).to_base64()}


def verify(order):
    key = vodozemac.Ed25519PublicKey.from_base64(order["key"])
    key.verify_signature(unpack(order["message"]), vodozemac.Ed25519Signature.from_base64(order["signature"]))
    return {}


def open_session(order):
    session = account.create_outbound_session(
        vodozemac.Curve25519PublicKey.from_base64(order["identity"]),
        vodozemac.Curve25519PublicKey.from_base64(order["oneTime"]))
    sessions[session.session_id] = session
    return {"session": session.session_id}


def accept(order):
    message = vodozemac.AnyOlmMessage.pre_key(unpack(order["message"])).to_pre_key()
    session, plain = account.create_inbound_session(
        vodozemac.Curve25519PublicKey.from_base64(order["identity"]), message)
    sessions[session.session_id] = session
    return {"session": session.session_id, "plain": pack(plain)}


def encrypt(order):
    kind, message = sessions[order["session"]].encrypt(unpack(order["plain"])).to_parts()
    return {"type": str(kind), "message": pack(message)}


def decrypt(order):
    message = vodozemac.AnyOlmMessage.from_parts(int(order["type"]), unpack(order["message"]))
    return {"plain": pack(sessions[order["session"]].decrypt(message))}


def group_key(order):
    return {"session": group.session_id, "key": group.session_key.to_base64(), "index": str(group.message_index)}


def group_encrypt(order):
    """Encrypts `plain`; before that, passes over messages up to number `index`."""
    while group.message_index < int(order.get("index", 0)):
        group.encrypt(b"")
    return {"message": group.encrypt(unpack(order["plain"])).to_base64()}


def group_open(order):
    session = vodozemac.InboundGroupSession(vodozemac.SessionKey(order["key"]))
    inbound[session.session_id] = session
    return {"session": session.session_id}


def group_import(order):
    session = vodozemac.InboundGroupSession.import_session(vodozemac.ExportedSessionKey(order["key"]))
    inbound[session.session_id] = session
    return {"session": session.session_id, "index": str(session.first_known_index)}


def group_decrypt(order):
    opened = inbound[order["session"]].decrypt(vodozemac.MegolmMessage.from_base64(order["message"]))
    return {"plain": pack(opened.plaintext), "index": str(opened.message_index)}


def group_export(order):
    return {"key": inbound[order["session"]].export_at(int(order["index"])).to_base64()}


ORDERS = {"keys": keys, "sign": sign, "verify": verify, "open": open_session, "accept": accept, "encrypt": encrypt,
          "decrypt": decrypt, "group-key": group_key, "group-encrypt": group_encrypt, "group-open": group_open,
          "group-import": group_import, "group-decrypt": group_decrypt, "group-export": group_export}

for line in sys.stdin:
    order = json.loads(line)
    try:
        answer = ORDERS[order["do"]](order)
    except ValueError as error:
        answer = {"refused": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)

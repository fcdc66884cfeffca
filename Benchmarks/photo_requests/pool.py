"""A typical queue in Python: a pool of processes with persistent connections takes the photos named on standard input.
Usage: inotifywait … in | pool.py DIRECTORY AT_ONCE"""

import hashlib
import io
import os
import sys
from multiprocessing import Pool

import boto3
import requests
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from PIL import Image, ImageOps

SIDE, QUALITY = 2048, 85


def set_up() -> None:
    global bucket, hook
    endpoint, _, name = os.environ["S3_URL"].rpartition("/")
    bucket = boto3.resource(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=os.environ["S3_KEY"],
        aws_secret_access_key=os.environ["S3_SECRET"]).Bucket(name)
    hook = requests.Session()


def sync(*paths: str) -> None:
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.close(file)


def ship(photo: str) -> None:
    sync(f"in/{photo}", "in")
    image = Image.open(f"in/{photo}")
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    image = ImageOps.exif_transpose(image)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY, exif=b"", icc_profile=None, comment=b"")
    key, nonce = AESGCM.generate_key(256), os.urandom(12)
    sealed = AESGCM(key).encrypt(nonce, file.getvalue(), None)
    digest = hashlib.sha256(sealed).hexdigest()
    bucket.put_object(Key=digest, Body=sealed)
    told = {"url": f"{os.environ['S3_URL']}/{digest}", "digest": digest, "key": key.hex(), "nonce": nonce.hex()}
    hook.post(os.environ["HOOK"], json=told).raise_for_status()
    os.rename(f"in/{photo}", f"done/{photo}")
    sync("in", "done")


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    with Pool(int(sys.argv[2]), set_up) as pool:
        for _ in pool.imap_unordered(ship, map(str.strip, sys.stdin)):
            pass

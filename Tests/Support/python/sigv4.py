"""AWS Signature Version 4 for S3, for path-style URLs: independent of the program's own."""

import datetime
import hashlib
import hmac
import re
import sys
import urllib.request
from urllib.parse import quote, urlsplit


def signature(secret, date, region, text):
    key = ("AWS4" + secret).encode()
    for part in [date[:8], region, "s3", "aws4_request"]:
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def to_sign(date, region, request):
    digest = hashlib.sha256(request.encode()).hexdigest()
    return f"AWS4-HMAC-SHA256\n{date}\n{date[:8]}/{region}/s3/aws4_request\n{digest}"


def now(offset=0):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=offset)
    return moment.strftime("%Y%m%dT%H%M%SZ")


def request(method, url, region, access_key, secret, body=b""):
    """A signed request, sent. Raises urllib.error.HTTPError for anything but success."""
    parts, date, payload = urlsplit(url), now(), hashlib.sha256(body).hexdigest()
    names = "host;x-amz-content-sha256;x-amz-date"
    canonical = (f"{method}\n{parts.path}\n{parts.query}\nhost:{parts.netloc}\nx-amz-content-sha256:{payload}\n"
                 f"x-amz-date:{date}\n\n{names}\n{payload}")
    told = signature(secret, date, region, to_sign(date, region, canonical))
    sent = urllib.request.Request(url, method=method, data=body or None, headers={
        "x-amz-date": date, "x-amz-content-sha256": payload, "Authorization":
        f"AWS4-HMAC-SHA256 Credential={access_key}/{date[:8]}/{region}/s3/aws4_request, SignedHeaders={names}, "
        f"Signature={told}"})
    return urllib.request.urlopen(sent, timeout=10)


def presigned_put(url, region, access_key, secret, content_type=None, expires=900, offset=0):
    """A URL that lets whoever holds it put one object. With a `content_type`, only as that."""
    parts, date = urlsplit(url), now(offset)
    headers = {"host": parts.netloc} | ({"content-type": content_type} if content_type else {})
    names = ";".join(sorted(headers))
    query = {
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{access_key}/{date[:8]}/{region}/s3/aws4_request",
        "X-Amz-Date": date, "X-Amz-Expires": str(expires), "X-Amz-SignedHeaders": names}
    query = "&".join(f"{name}={quote(value, safe='-_.~')}" for name, value in sorted(query.items()))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    canonical = f"PUT\n{parts.path}\n{query}\n{lines}\n{names}\nUNSIGNED-PAYLOAD"
    return f"{url}?{query}&X-Amz-Signature={signature(secret, date, region, to_sign(date, region, canonical))}"


def objects(bucket, region, access_key, secret):
    """The names of all objects in a bucket, in order."""
    found, more = [], ""
    while True:
        answer = request("GET", f"{bucket}?{more}list-type=2", region, access_key, secret).read().decode()
        found += re.findall("<Key>(.*?)</Key>", answer)
        token = re.search("<NextContinuationToken>(.*?)</NextContinuationToken>", answer)
        if not token:
            return sorted(found)
        more = f"continuation-token={quote(token[1], safe='')}&"


if __name__ == "__main__" and sys.argv[1] == "list":
    # The names in a bucket: list URL REGION ACCESS-KEY SECRET
    print("\n".join(objects(*sys.argv[2:])))
elif __name__ == "__main__":
    # presigned_put(...) of the arguments: URL REGION ACCESS-KEY SECRET [CONTENT-TYPE [OFFSET]]
    url, region, access_key, secret, *rest = sys.argv[1:]
    print(presigned_put(url, region, access_key, secret, rest[0] if rest and rest[0] else None,
                        offset=int(rest[1]) if len(rest) > 1 else 0))

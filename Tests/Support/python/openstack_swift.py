"""OpenStack Swift with its S3 interface on loopback, one node, one bucket. Usage: openstack_swift.py DIRECTORY"""

import getpass
import os
import subprocess
import sys

import leash
import sigv4

directory = os.path.abspath(sys.argv[1])
programs = os.path.dirname(sys.executable)
ports = {name: leash.free_port() for name in ["proxy", "object", "container", "account", "memcache"]}
for name in ["etc", "node/d1", "cache"]:
    os.makedirs(f"{directory}/{name}", exist_ok=True)

COMMON = f"""[DEFAULT]
bind_ip = 127.0.0.1
workers = 0
user = {getpass.getuser()}
swift_dir = {directory}/etc
log_level = WARNING
"""
PROXY = f"""{COMMON}bind_port = {ports["proxy"]}
[pipeline:main]
pipeline = catch_errors cache s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{ports["memcache"]}
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
storage_domain = localhost
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
"""


def write(name, text):
    with open(f"{directory}/etc/{name}", "w") as file:
        file.write(text)


def ring(kind):
    builder = [f"{programs}/swift-ring-builder", f"{kind}.builder"]
    for step in [["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{ports[kind]}/d1", "1"], ["rebalance"]]:
        # The builder says with 1 that there was something to warn of: one device is few.
        result = subprocess.run(builder + step, cwd=f"{directory}/etc", capture_output=True, text=True)
        if result.returncode > 1:
            sys.exit(result.stdout + result.stderr)


write("swift.conf", "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n"
      "[storage-policy:0]\nname = one\ndefault = yes\n")
write("proxy.conf", PROXY)
environment = os.environ | {"SWIFT_DIR": f"{directory}/etc"}
for kind in ["object", "container", "account"]:
    ring(kind)
    write(f"{kind}.conf", f"""{COMMON}bind_port = {ports[kind]}
devices = {directory}/node
mount_check = false
recon_cache_path = {directory}/cache
fallocate_reserve = 0
disable_fallocate = true
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
""")
for kind in ["object", "container", "account", "proxy"]:
    leash.start([f"{programs}/swift-{kind}-server", f"{directory}/etc/{kind}.conf"], f"{directory}/{kind}.log",
                env=environment)
for kind in ["object", "container", "account", "proxy"]:
    leash.until(lambda: leash.connects(ports[kind]))

endpoint = f"http://127.0.0.1:{ports['proxy']}"
leash.until(lambda: sigv4.request("PUT", f"{endpoint}/photos", "us-east-1", "test:tester", "testing").status < 300)
leash.serve({
    "endpoint": endpoint, "region": "us-east-1", "bucket": "photos",
    "accessKey": "test:tester", "secretKey": "testing"})

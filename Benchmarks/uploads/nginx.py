"""nginx on loopback, as a place that takes uploads as fast as it can, and as TLS before another. Usage: nginx.py DIRECTORY
SERVICE, where SERVICE is the URL of what stands behind TLS.

Its facts: `sink` and `tlsSink`, which keep what is put there in `kept`; `tls`, which passes everything on to the service;
`authority`, the PEM file of who signed the certificate."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Support/python"))
import leash  # noqa: E402

directory, service = os.path.abspath(sys.argv[1]), sys.argv[2]
os.mkdir(f"{directory}/kept")
subprocess.run([
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem",
    "-out", "certificate.pem", "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
    cwd=directory, check=True, capture_output=True)
ports = {name: leash.free_port() for name in ["sink", "tlsSink", "tls"]}
certificate = f"ssl_certificate {directory}/certificate.pem; ssl_certificate_key {directory}/key.pem;"
keep = f"location / {{ root {directory}/kept; dav_methods PUT; create_full_put_path on; }}"
with open(f"{directory}/nginx.conf", "w") as configuration:
    configuration.write(f"""
user {pwd.getpwuid(os.getuid()).pw_name};
worker_processes 1;
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_max_body_size 0;
  keepalive_requests 100000;
  client_body_temp_path {directory}/kept/.body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  upstream service {{ server {service.removeprefix("http://")}; keepalive 16; }}
  server {{ listen 127.0.0.1:{ports["sink"]}; {keep} }}
  server {{ listen 127.0.0.1:{ports["tlsSink"]} ssl; {certificate} {keep} }}
  server {{
    listen 127.0.0.1:{ports["tls"]} ssl;
    {certificate}
    location / {{
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
    }}
  }}
}}
""")
leash.start_nginx(directory, ports.values())
leash.serve({
    "sink": f"http://localhost:{ports['sink']}", "tlsSink": f"https://localhost:{ports['tlsSink']}",
    "tls": f"https://localhost:{ports['tls']}", "authority": f"{directory}/certificate.pem"})

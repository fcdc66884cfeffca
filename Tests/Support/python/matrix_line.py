"""A line to a homeserver that fails as it is told. Usage: matrix_line.py DIRECTORY HOMESERVER

Each line on standard input is one order, answered with one line of JSON:

    lose WORD    of the next request with WORD in its path the answer is lost: {}
    refuse WORD  requests with WORD in their path do not reach the homeserver, and get 503: {}
    hide WORD    requests with WORD in their path do not reach the homeserver, which seems to have nothing there: {}
    count        {count} of the requests that failed since everything passed
    pass         everything passes again: {count}
"""

import http.client
import http.server
import json
import shutil
import sys
import threading
import urllib.parse

import leash

target = urllib.parse.urlsplit(sys.argv[2])
lock = threading.Lock()
rules, failed = [], [0]


class Line(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def rule(self):
        with lock:
            for rule in rules:
                if rule[1] in self.path:
                    failed[0] += 1
                    if rule[0] == "lose":
                        rules.remove(rule)
                    return rule[0]

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        rule = self.rule()
        if rule == "refuse":
            return self.answer(503, [], b"")
        if rule == "hide":
            return self.answer(404, [], b'{"errcode": "M_NOT_FOUND"}')
        connection = http.client.HTTPConnection(target.hostname, target.port, timeout=120)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        except OSError:
            self.close_connection = True
            return
        finally:
            connection.close()
        if rule == "lose":
            self.close_connection = True
            return
        self.answer(answer.status, answer.getheaders(), content)

    do_GET = do_POST = do_PUT = do_DELETE = pass_on


server = http.server.ThreadingHTTPServer((leash.ADDRESS, 0), Line)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"endpoint": f"http://{leash.ADDRESS}:{server.server_port}"}), flush=True)
try:
    for line in sys.stdin:
        order, *words = line.split()
        answer = {}
        with lock:
            if order in ("count", "pass"):
                answer = {"count": failed[0]}
            if order == "pass":
                rules.clear()
                failed[0] = 0
            elif order != "count":
                rules.append((order, words[0]))
        print(json.dumps(answer), flush=True)
finally:
    shutil.rmtree(sys.argv[1], ignore_errors=True)

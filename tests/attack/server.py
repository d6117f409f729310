"""Probes of the live view over real connections on the loopback interface: only the printed address is answered."""

import base64
import logging
import random
import socket
import string
from urllib.parse import urlsplit

import leastaction as la
from attack.found import Found

LIMIT = 5.0  # seconds that an answer may take
FOREIGN = ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1", "localhost",
           "127.0.0.1", "0.0.0.0:{port}", "[::1]:{port}", "127.0.0.1:{port}@evil.example", "",
           "127.1:{port}", "2130706433:{port}"]
ORIGINS = ["http://evil.example", "https://127.0.0.1:{port}", "null", "http://127.0.0.1:1", "http://localhost",
           "file://", "http://127.0.0.1:{port}.evil.example", "", "http://evil.example:{port}"]


def ask(port: int, data: bytes) -> bytes:
    """Send bytes to the server; gives what comes back within the limit, the first kilobyte at most."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as connection:
        connection.sendall(data)
        answer = b""
        while len(answer) < 1024:
            try:
                more = connection.recv(1024)
            except ConnectionResetError:
                break
            if not more:
                break
            answer += more
            if b"\r\n\r\n" in answer:
                break
    return answer


def request(path: str, websocket: bool, headers: list[tuple[str, str]]) -> bytes:
    """Write a GET request; for a websocket as viser's own page asks."""
    import viser

    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if websocket:
        lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                  f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}",
                  f"Sec-WebSocket-Protocol: viser-v{viser.__version__}"]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


def status(answer: bytes) -> int:
    """Code of an answer; 0 if the connection was closed without one."""
    return int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0


def probe(url: str, rng: random.Random) -> tuple[str, bytes]:
    """Make a request that must be refused, and say in words why."""
    port, secret = urlsplit(url).port, urlsplit(url).path.strip("/")
    websocket, own = rng.random() < 0.5, ("Host", f"127.0.0.1:{port}")
    match rng.randrange(5):
        case 0:
            host = rng.choice(FOREIGN).format(port=port)
            return f"Host {host!r}", request(f"/{secret}/", websocket, [("Host", host)])
        case 1:
            origin = rng.choice(ORIGINS).format(port=port)
            return f"Origin {origin!r}", request(f"/{secret}/", websocket, [own, ("Origin", origin)])
        case 2:
            wrong = rng.choice([
                "", secret[:-1], secret + "x", secret.swapcase(), "x/" + secret, "?" + secret, "%2e%2e/" + secret, "..",
                "".join(rng.choices(string.ascii_letters + "-_", k=len(secret))), "a" * rng.choice((10, 7000)),
                "\udcff", "../../../../etc/passwd", "index.html", "//" + secret, "%00" + secret,
            ])
            return f"path {wrong[:60]!r}", request(f"/{wrong}", websocket, [own])
        case 3:
            hosts = rng.choice([[], [own, ("Host", "evil.example")], [("Host", "evil.example"), own]])
            return f"hosts {hosts}", request(f"/{secret}/", websocket, hosts)
    noise = bytearray(request(f"/{secret[::-1]}/", websocket, [own]))
    for _ in range(rng.choice((1, 3, 30))):
        noise[rng.randrange(len(noise))] = rng.randrange(256)
    return f"noise {bytes(noise[:60])!r}", bytes(noise) + b"\r\n\r\n"


def traversal(url: str, rng: random.Random) -> tuple[str, bytes]:
    """Ask, with the secret, for a file outside of what is served."""
    up = rng.choice(["..", "%2e%2e", "..%2f..", "%2e%2e%5c", "....//", ".%2e"])
    file = rng.choice(["etc/passwd", "proc/self/environ"])
    path = f"{urlsplit(url).path}{'/'.join([up] * rng.randrange(1, 9))}/{file}"
    return f"traversal {path!r}", request(path, False, [("Host", f"127.0.0.1:{urlsplit(url).port}")])


def attack(count: int, seed: int) -> Found:
    """Probe the server of a viewer; the page and the websocket of the printed address must be answered throughout."""
    found = Found("probes of the live view's server")
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # its log of malformed requests is not ours to judge
    viewer = la.simulate(la.library.pendulum(), dt=1e-2, steps=20).view(port=18500, block=False)
    try:
        port = urlsplit(viewer.url).port
        for k in range(count):
            rng = random.Random(f"{seed} {k}")
            outside = rng.random() < 0.1
            words, data = (traversal if outside else probe)(viewer.url, rng)
            try:
                code = status(ask(port, data))
            except TimeoutError:
                found.failures.append(f"probe {k}: {words}: no answer in {LIMIT:g} s")
                continue
            if code in (0, 400, 403, 404, 405, 431, 500, 505) and not (outside and code != 404):
                found.outcomes["refused" if code else "connection closed"] += 1
            else:
                found.failures.append(f"probe {k}: {words}: answered with {code}")
            if k % 50 == 0:
                for websocket, right in ((False, 200), (True, 101)):
                    own = request(urlsplit(viewer.url).path, websocket, [("Host", f"127.0.0.1:{port}")])
                    if status(ask(port, own)) == right:
                        found.outcomes["own page served"] += 1
                    else:
                        found.failures.append(f"after probe {k}: the printed address is not answered")
    finally:
        viewer.close()
    return found

"""The guard of the live view: it answers only pages that this machine's user opened by the printed address.

A server on the loopback interface can be reached by every web page that the user visits, and by every user of the
machine. Each request, for a page or for a websocket, must meet three conditions: its ``Host`` is the loopback interface
(against names of foreign sites that resolve to it), its ``Origin``, if it has one, is this server (against foreign
pages), and its path begins with a secret that only the printed address has (against other users).
"""

import hmac
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from unittest.mock import patch

NAMES = ("127.0.0.1", "localhost")
_patching = threading.Lock()


class Guard:
    """The check of every request, and the secret in the address."""

    def __init__(self) -> None:
        self.secret = secrets.token_urlsafe(16)
        self.stands = False  # whether a server has taken it

    def refuses(self, host: list[str], origin: list[str], path: str, port: int) -> bool:
        """Tell whether a request with these headers must not be answered."""
        own = [f"{name}:{port}" for name in NAMES]
        if len(host) != 1 or host[0].lower() not in own:
            return True
        if any(given.lower() not in [f"http://{name}" for name in own] for given in origin):
            return True
        first = (path.partition("?")[0] + "/").split("/")[1]
        return not hmac.compare_digest(first.encode(errors="surrogateescape"), self.secret.encode())

    def before(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a handler that refuses a request, or passes it on to ``answer`` without the secret in its path."""

        def guarded(connection: Any, request: Any) -> Any:
            port = connection.local_address[1]
            headers = request.headers
            if self.refuses(headers.get_all("Host"), headers.get_all("Origin"), request.path, port):
                return connection.respond(HTTPStatus.FORBIDDEN, "Open the address that was printed, with its secret.\n")
            request.path = request.path[1 + len(self.secret) :] or "/"
            return answer(connection, request)

        return guarded

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Put the guard before the server that viser starts inside this context; viser itself has no place for one."""
        from websockets.asyncio import server

        plain = server.serve

        def serve(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
            if getattr(process_request, "__module__", "").startswith("viser"):
                process_request, self.stands = self.before(process_request), True
            return plain(*arguments, process_request=process_request, **options)

        with _patching, patch.object(server, "serve", serve):
            yield


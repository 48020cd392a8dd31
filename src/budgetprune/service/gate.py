"""Checks of a request before it is answered: its token, and the limit of its client."""

from __future__ import annotations

import math

from budgetprune.service.access import Access
from budgetprune.service.addresses import ClientAddresses
from budgetprune.service.endpoints import HEALTH, METRICS
from budgetprune.service.errors import TOO_MANY, RefusedError
from budgetprune.service.headers import Headers
from budgetprune.service.rates import RateLimiter, RateMemory
from budgetprune.service.tokens import Tokens

# A client without a limit.
FREE = b""


class Gate:
    """Admit requests with a valid token, and within the limit of their client.

    Parameters
    ----------
    access : Access
    memory : RateMemory, optional
        Shared by all workers. None: memory of this process.

    Raises
    ------
    InvalidInputError
        If tokens or trusted proxies are invalid.
    """

    def __init__(self, access: Access, memory: RateMemory | None = None) -> None:
        self._tokens = Tokens(access.tokens, access.token_file) if access.needs_token else None
        self._without_token = {HEALTH, METRICS} if access.open_metrics else {HEALTH}
        self._addresses = ClientAddresses(access.trusted_proxies)
        self._is_by_token = access.limit_by != "address"
        self._rate = access.rate
        self._limiter = None
        if access.rate is not None:
            burst = access.burst or max(1, math.floor(access.rate))
            self._limiter = RateLimiter(access.rate, burst, memory or RateMemory())

    @classmethod
    def of(cls, access: Access | None, memory: RateMemory | None = None) -> Gate | None:
        """Create a gate; None if it would admit everything."""
        if access is None or not (access.needs_token or access.rate is not None):
            return None
        return cls(access, memory)

    def admit(self, path: str, peer: str, headers: Headers) -> None:
        """Check a request and count it, or raise a RefusedError (401 or 429).

        Parameters
        ----------
        path : str
        peer : str
            Address at the other end of the connection.
        headers : pairs of bytes
        """
        client, refusal = self._judge(path, peer, headers)
        self._check_rate(client)
        self.charge(client)
        if refusal is not None:
            raise refusal

    def client_of(self, path: str, peer: str, headers: Headers) -> bytes | None:
        """Return the client of a request that `admit` would accept, without counting it; else None."""
        client, refusal = self._judge(path, peer, headers)
        if refusal is not None or (self._limiter is not None and client and self._limiter.wait(client) > 0):
            return None
        return client

    def charge(self, client: bytes) -> None:
        """Count a request."""
        if self._limiter is not None and client:
            self._limiter.charge(client)

    def _judge(self, path: str, peer: str, headers: Headers) -> tuple[bytes, RefusedError | None]:
        """Return the client that a request counts for, and the error if it has no valid token."""
        token, refusal = None, None
        if self._tokens is not None and path not in self._without_token:
            try:
                token = self._tokens.check(headers)
            except RefusedError as error:
                refusal = error
        if self._limiter is None or path == HEALTH:
            return FREE, refusal
        if token is not None and self._is_by_token:
            return b"t" + token, refusal
        return b"a" + self._addresses.client_of(peer, headers), refusal

    def _check_rate(self, client: bytes) -> None:
        if self._limiter is None or not client:
            return
        seconds = self._limiter.wait(client)
        if seconds > 0:
            again = math.ceil(seconds)
            raise RefusedError(
                TOO_MANY,
                f"too many requests: {self._rate:g} per second are allowed; try again in {again} s.",
                headers={"retry-after": str(again)},
            )

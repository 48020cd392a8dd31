"""Options: who may send requests, and how many."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from budgetprune.errors import InvalidInputError

LimitBy = Literal["token", "address"]
HIGHEST_RATE, LARGEST_BURST = 1e6, 10**6


@dataclass(frozen=True)
class Access:
    """Tokens that clients need, and a limit on the requests of each client.

    Parameters
    ----------
    tokens : iterable of str
        Accepted tokens. Every request needs one of them, in the header ``Authorization: Bearer TOKEN``,
        except ``/healthz``.
    token_file : path, optional
        File with one token per line instead. It is read again within a second when it changes, so tokens can
        be added and removed while the service runs.
    open_metrics : bool
        Whether ``/metrics`` needs no token.
    rate : float, optional
        Requests per second of a client, over all workers. None: no limit.
    burst : int, optional
        Requests of a client that may come at once. None: those of one second, and at least one.
    limit_by : {"token", "address"}, optional
        Definition of a client. None: by token if tokens are needed, else by address. Requests
        without a valid token are limited by address.
    trusted_proxies : iterable of str
        Addresses or networks of proxies. The address of a client is taken from ``X-Forwarded-For`` only if
        the request comes from one of them.
    """

    tokens: Iterable[str] = field(default=(), repr=False)
    token_file: str | os.PathLike[str] | None = None
    open_metrics: bool = False
    rate: float | None = None
    burst: int | None = None
    limit_by: LimitBy | None = None
    trusted_proxies: Iterable[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.tokens, str) or isinstance(self.trusted_proxies, str):
            raise InvalidInputError("tokens and trusted proxies must be lists of str, not one str.")
        object.__setattr__(self, "tokens", tuple(self.tokens))
        object.__setattr__(self, "trusted_proxies", tuple(self.trusted_proxies))
        if self.tokens and self.token_file is not None:
            raise InvalidInputError("give tokens directly or in a file, not both.")
        if self.open_metrics and not self.needs_token:
            raise InvalidInputError("metrics are open anyway, because no tokens are given.")
        self._check_rate()

    @property
    def needs_token(self) -> bool:
        """Whether requests need a token."""
        return bool(self.tokens) or self.token_file is not None

    def _check_rate(self) -> None:
        if self.rate is None:
            unused = {
                "a burst": self.burst,
                "limit_by": self.limit_by,
                "a trusted proxy": self.trusted_proxies or None,
            }
            for name, value in unused.items():
                if value is not None:
                    raise InvalidInputError(f"{name} needs a rate limit; give that as well.")
            return
        if not (math.isfinite(self.rate) and 0 < self.rate <= HIGHEST_RATE):
            raise InvalidInputError(
                f"the rate limit must be requests per second, above 0 and up to {HIGHEST_RATE:g}, not "
                f"{self.rate}."
            )
        if self.burst is not None and not 1 <= self.burst <= LARGEST_BURST:
            raise InvalidInputError(
                f"the burst must be from 1 to {LARGEST_BURST} requests, not {self.burst}."
            )
        if self.limit_by is not None and self.limit_by not in get_args(LimitBy):
            raise InvalidInputError(f"clients are limited by token or address, not by {self.limit_by!r}.")
        if self.limit_by == "token" and not self.needs_token:
            raise InvalidInputError("clients can be limited by token only if tokens are needed; give tokens.")

"""How long the service waits before it gives up on a visitor or on the engine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """All in seconds, except `sessions_at_once`, `runs_at_once` and `deaths`."""

    reconnect: float = 20.0  # a session whose connection ended may come back within this
    sessions_at_once: int = 40  # from one public address that have a job; a class behind one router has one address
    runs_at_once: int = 32  # jobs that an engine has begun: all visitors see their first rounds soon
    start: float = 300.0  # the engine has imported torch and loaded the default pair (a shared host can be very slow)
    silence: float = 180.0  # longest time between two messages of a job (a large model may have to be downloaded)
    stop: float = 5.0  # a job ends this soon after a Stop
    stop_loading: float = 60.0  # ... while a model is loading or a prompt is being read, which cannot be interrupted
    turn: float = 5.0  # a long job that has found something lets a waiting one in after this long
    deaths: int = 3  # after this many deaths of the engine ...
    deaths_window: float = 60.0  # ... within this time, no engine is started ...
    rest: float = 60.0  # ... for this long
    pause: float = 1.0  # before the driver goes on after an error in itself

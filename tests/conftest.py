"""The same examples on every run, and no deadline: a slow machine is no failure."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "shardc",
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("shardc")

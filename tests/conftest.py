"""What all tests share: how long random tests may take is not asked, since that depends on the machine."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("tidegauge", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tidegauge")

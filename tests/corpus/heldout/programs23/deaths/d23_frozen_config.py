"""A schedule changes the settings, which are frozen."""
import dataclasses

from kitd23 import steps


@dataclasses.dataclass(frozen=True)
class Settings:
    lr: float = 0.1
    warmup: int = 20


settings = Settings()
steps(20)
settings.lr = settings.lr * 0.5

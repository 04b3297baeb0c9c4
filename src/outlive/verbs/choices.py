"""What options of verbs can be set to, for those that offer a choice."""

from outlive.arena.questions import ABIS, ACCELERATORS, KERNELS
from outlive.process.limits import MODES as SANDBOX_MODES
from outlive.process.worker_factory import RUNTIMES

__all__ = ["ABIS", "ACCELERATORS", "KERNELS", "RUNTIMES", "SANDBOX_MODES"]

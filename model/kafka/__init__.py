"""The Kafka replication protocol: one definition, assembled from a variant (which rules) and bounds (how large).

Read in this order: `state` (what there is), `controller`, `leader`, `follower` (who does what), `synchrony` and
`truncation` (the rules that variants choose among), `invariants` (what is promised), `protocol` (how it is assembled).
"""

from model.kafka.protocol import kafka
from model.kafka.variant import NAMED_VARIANTS, Bounds, Variant

__all__ = ["NAMED_VARIANTS", "Bounds", "Variant", "kafka"]

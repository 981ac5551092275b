"""What a protocol *is*: the language protocols are written in, and the Kafka replication protocol written in it.

Importing this package loads the standard library only.
"""

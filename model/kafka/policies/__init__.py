"""Truncation policies: one file each, three small functions a file.

    asked(own_cache) -> epoch                               which epoch the follower asks the leader about
    answer(cache, log_end, epoch) -> EpochEnd               what the leader says
    cut(own_cache, log_end, high_watermark, answer) -> Cut  where the follower cuts, and whether it is finished

They see epoch caches, log ends and high watermarks: a broker cannot compare records. A user's own policy is a file of
the same shape, with only the functions that differ from `kip_279` (`policy_file` reads it).
"""

from abc import ABCMeta, get_cache_token

cuda, git_version, hip, xpu, debug, __version__ = "13.0", "unknown", None, None, False, "2.11.0"

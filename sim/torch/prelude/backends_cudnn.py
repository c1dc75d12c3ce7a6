# module: torch.backends.cudnn
# defines: enabled benchmark deterministic allow_tf32 is_available version
enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available():
    return True


def version():
    return 91900

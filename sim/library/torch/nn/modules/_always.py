"""Hooks of a module that are called though an exception ends the call."""
import warnings


def call_always(module, error, called, args, kwargs, result):
    """Calls what register_forward_hook(always_call=True) was given and `called` does not have."""
    if not isinstance(error, Exception):
        return
    for entry in list(module._forward_hooks.values()):
        if type(entry) is not tuple or not entry[2] or any(entry is each for each in called):
            continue
        hook, with_kwargs, _ = entry
        try:
            given = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
            if given is not None:
                result = given
        except Exception as e:
            warnings.warn("module forward hook with ``always_call=True`` raised an exception "
                          f"that was silenced as another error was raised in forward: {e}")

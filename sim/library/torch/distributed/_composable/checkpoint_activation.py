from torch.utils.checkpoint import noop_context_fn, prepare_region

# A module that is recomputed wherever it is called: the region begins before its forward and ends first of what follows
# it. Source: torch.distributed._composable.checkpoint_activation


class _State:
    def __init__(self):
        self.is_on, self.running = True, None


class _Again:
    """the second run, within which the module is called as it is"""

    def __init__(self, state, given):
        self._state, self._given = state, given

    def __enter__(self):
        self._given.__enter__()
        self._state.is_on = False

    def __exit__(self, *error):
        self._state.is_on = True
        self._given.__exit__(*error)
        return False


def checkpoint(module, *, use_reentrant=False, preserve_rng_state=True, context_fn=None, determinism_check="default",
               debug=False, early_stop=True):
    if use_reentrant:
        raise NotImplementedError(
            "use_reentrant=True is not supported in composable checkpoint. Please use "
            "torch.utils.checkpoint.checkpoint instead."
        )
    state = _State()

    def contexts():
        first, second = (context_fn or noop_context_fn)()
        return first, _Again(state, second)

    def before(module, args, kwargs):
        if state.is_on:
            frame, context = prepare_region(module, early_stop, contexts, args, kwargs)
            if frame is not None:
                frame.enter()
                context.__enter__()
                state.running = (frame, context)

    def after(module, inputs, output):
        if state.is_on and state.running is not None:
            frame, context = state.running
            context.__exit__(None, None, None)
            frame.exit()
        state.running = None

    module.register_forward_pre_hook(before, with_kwargs=True)
    module.register_forward_hook(after, prepend=True, always_call=True)
    return module

// Carries the precompiled header of the test programs; Catch2's main must be compiled without it.

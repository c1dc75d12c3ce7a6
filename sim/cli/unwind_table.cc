/// How a statically linked program finds the frames that an exception leaves. Left to itself it
/// registers all of them when it starts and sorts them when the first exception is thrown, which
/// takes longer than most runs. The linker writes a sorted table (--eh-frame-hdr), which the
/// unwinder takes where nothing is registered; it puts these in the places of the two functions
/// (--wrap).
extern "C" void register_no_frames(const void* begin,
                                   void* object) __asm__("__wrap___register_frame_info");
extern "C" void register_no_frames(const void* /*begin*/, void* /*object*/) {}
extern "C" void* deregister_no_frames(const void* begin) __asm__("__wrap___deregister_frame_info");
extern "C" void* deregister_no_frames(const void* /*begin*/) { return nullptr; }

// Leaks that the leak sanitizer must not report. Only the address sanitizer's build asks.
//
// ZooKeeper's C client puts an event of the session into a queue that its own thread empties. When a
// connection breaks while its handle is being closed, that thread is already gone, and nobody frees
// the event: about 350 bytes for each such close. The sanitizer would still report a handle of ours that
// is never closed, by our object that holds it.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_mt\n"; }

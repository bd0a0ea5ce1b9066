// What the leak sanitizer is not to report. Only the address sanitizer's build asks.
//
// ZooKeeper's C client puts an event of the session into a queue that its own thread empties. When a
// connection breaks while its handle is being closed, that thread is gone already, and nobody frees
// the event: about 350 bytes for such a close. A handle of ours that is never closed would still be
// seen, by the object of ours that holds it.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_mt\n"; }

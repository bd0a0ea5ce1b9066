// Read by the thread sanitizer's runtime. libzookeeper_mt 3.8.0 formats host names for its log
// lines in one static buffer that all its threads share; it harms only those lines.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:libzookeeper_mt.so\n";
}

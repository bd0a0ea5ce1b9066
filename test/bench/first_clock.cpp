// The command that submit_latency submits: reads the clock first of all, and writes what it read into
// the FIFO named by its argument.
#include <fcntl.h>
#include <unistd.h>

#include <ctime>

int main(int argc, char** argv) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (argc < 2) return 2;
  const int out = open(argv[1], O_WRONLY);
  if (out < 0 || write(out, &now, sizeof now) != static_cast<ssize_t>(sizeof now)) return 1;
  return 0;
}

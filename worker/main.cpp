// rota-worker: a worker with the built-in handlers. See sdk/run_worker.h for one with its own.
#include "worker/sdk/run_worker.h"

int main(int argc, char** argv) {
  rota::sdk::Registry registry;
  return rota::sdk::run_worker(argc, argv, registry);
}

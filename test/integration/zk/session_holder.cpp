// A process that holds a session with one ephemeral node until it is killed:
//   zk_session_holder ADDRESSES SESSION_FILE NODE
// It writes one line to stdout when the node exists.
#include <unistd.h>

#include "common/zk/real_client.h"
#include "common/zk/session.h"

using namespace rota;
using namespace rota::zk;

int main(int count, char** words) {
  if (count != 4) return 2;
  SessionOptions options;
  options.client.addresses = words[1];
  options.client.session_timeout = options.client.operation_deadline = Millis{30'000};
  options.session_file = words[2];
  Session session(make_real_client, options);
  session.start();
  const auto client = session.wait_connected(Millis{120'000});
  if (!client || !(*client)->create(words[3], "", CreateMode::Ephemeral)) return 1;
  if (::write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  for (;;) ::pause();
}

#include "common/wire/shared_work.h"

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include <map>
#include <memory>

#include "common/base/sha256.h"

namespace rota::wire {
namespace {

std::size_t weight_of_texts(const std::map<std::string, std::string>& texts) {
  std::size_t sum = 0;
  for (const auto& [key, value] : texts) sum += key.size() + value.size() + 8;
  return sum;
}

}  // namespace

std::size_t weight_of(const thrift::Work& work) {
  std::size_t sum = 256 + work.handler.size() + work.script.size() + work.interpreter.size() +
                    work.folder.size() + weight_of_texts(work.environment) + weight_of_texts(work.parameters);
  for (const std::string& argument : work.argv) sum += argument.size() + 4;
  return sum;
}

std::string hash_of(const thrift::Work& work) {
  auto buffer = std::make_shared<apache::thrift::transport::TMemoryBuffer>();
  apache::thrift::protocol::TBinaryProtocolT<apache::thrift::transport::TMemoryBuffer> writer(buffer);
  work.write(&writer);
  return sha256_of(buffer->getBufferAsString());
}

}  // namespace rota::wire

#include "worker/desk/voucher_rules.h"

#include <doctest/doctest.h>

namespace rota::worker::desk {

TEST_CASE("voucher_rules: either voucher is enough, the later one counts") {
  const MonoTime now{std::chrono::seconds{1000}};
  VoucherRules vouchers;
  vouchers.greet();
  CHECK_FALSE(vouchers.is_vouched(now));
  vouchers.extend_lease(now + Millis{100});
  CHECK(vouchers.is_vouched(now + Millis{99}));
  CHECK_FALSE(vouchers.is_vouched(now + Millis{100}));
  vouchers.extend_grant(now, Millis{500});
  CHECK(vouchers.vouched_until() == now + Millis{500});
  vouchers.extend_lease(now + Millis{700});
  CHECK(vouchers.vouched_until() == now + Millis{700});
}

TEST_CASE("voucher_rules: an answer that comes late shortens nothing") {
  const MonoTime now{std::chrono::seconds{1000}};
  VoucherRules vouchers;
  vouchers.greet();
  vouchers.extend_grant(now + Millis{50}, Millis{500});
  vouchers.extend_grant(now, Millis{500});
  CHECK(vouchers.grant_end() == now + Millis{550});
  vouchers.extend_lease(now + Millis{90});
  vouchers.extend_lease(now + Millis{80});
  CHECK(vouchers.lease_end() == now + Millis{90});
}

TEST_CASE("voucher_rules: a life's lease counts once a leader has greeted it") {
  const MonoTime now{std::chrono::seconds{1000}};
  VoucherRules vouchers;
  vouchers.greet();
  vouchers.extend_lease(now + Millis{100});
  vouchers.begin_life();
  vouchers.extend_lease(now + Millis{900});
  CHECK(vouchers.vouched_until() == now + Millis{100});
  SUBCASE("greeted") {
    vouchers.greet();
    CHECK(vouchers.vouched_until() == now + Millis{900});
  }
  SUBCASE("another life has begun before") {
    vouchers.begin_life();
    vouchers.greet();
    CHECK(vouchers.vouched_until() == now + Millis{100});
  }
}

}  // namespace rota::worker::desk

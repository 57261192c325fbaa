// No upstream twin: the scanner of C++ on small texts.

package xref

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sampleSource = `
#include <x>
#define SAMPLE_LIMIT 5
#if 0
void Never() {
#endif
namespace ROCKSDB_NAMESPACE {
namespace log {
template <class T, int N = (3 > 2)>
class Box final : public Base<T> {  // a { in a comment
 public:
  explicit Box(int n) : n_(n), list_{1, 2}, text_("}{") { Init(); }
  ~Box() override = default;
  static const char* kName() { return R"x(")})x"; }
  bool operator==(const Box& o) const { return n_ == o.n_; }
  void operator()(int) const;
  virtual Status Read(Slice* s, size_t n = sizeof(int)) const = 0;
  enum class Kind : unsigned char { kA, kB = 0x10, kC, kD = 1 << 5, kE = kD | 1 };
  struct Inner {
    int depth GUARDED_BY(mu_) = 0;
    std::function<void(int, int)> done;
  };

 private:
  int n_;
  std::atomic<int> count_{0};
  void (*hook_)(void* arg);
  unsigned bits_ : 3;
};
using Numbers = std::vector<int>;
}  // namespace log

namespace {
constexpr size_t kSize = 1 << 4;
static int Free(
    int a,
    int b) {
  char c = '{';
  return Box::kName(a) + Helper<int>(b);
}
}  // namespace

Status log::Box::Inner::Go(int x) const noexcept {
#ifdef LEFT
  if (x) {
#else
  if (!x) {
#endif
    TEST_SYNC_POINT_CALLBACK("Inner::Go:"
                             "Mid", &x);
  }
  return Status::OK();
}
TEST_F(SampleTest, Case1) { EXPECT_EQ(1, 1); }
DEFINE_int32(sample_count, 3, "how many");
}
`

func TestParseCpp(t *testing.T) {
	p, toks := parseCpp("db/sample.cc", sampleSource)
	var got []string
	for _, s := range p.out {
		text := s.Kind + " " + s.Name
		if s.More != "" {
			text += " " + s.More
		}
		got = append(got, text)
	}
	want := strings.Split(`macro SAMPLE_LIMIT
class log::Box
func log::Box::Box
decl log::Box::~Box
func log::Box::kName
func log::Box::operator==
decl log::Box::operator()
decl log::Box::Read
enum log::Box::Kind
value log::Box::Kind::kA 0
value log::Box::Kind::kB 16
value log::Box::Kind::kC 17
value log::Box::Kind::kD 32
value log::Box::Kind::kE 33
class log::Box::Inner
member log::Box::Inner::depth
member log::Box::Inner::done
member log::Box::n_
member log::Box::count_
member log::Box::hook_
member log::Box::bits_
alias log::Numbers
var kSize
func Free
func log::Box::Inner::Go
test SampleTest.Case1 TEST_F`, "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, s := range p.out {
		if s.Name == "Free" && (s.End-s.Line != 5 || s.Calls != "kName Helper") {
			t.Errorf("Free: lines %d-%d, calls %q", s.Line, s.End, s.Calls)
		}
	}
	var points []string
	for _, x := range scanFacts("db/sample.cc", toks, p.out) {
		points = append(points, x.Kind+" "+x.Name)
	}
	if d := cmp.Diff([]string{"sync_points Inner::Go:Mid"}, points); d != "" {
		t.Error(d)
	}
	if len(p.flags) != 1 || p.flags[0].Name != "sample_count" || p.flags[0].More != "int32" {
		t.Errorf("flags %v", p.flags)
	}
}

// TestTables holds that tables are read as they were written.
func TestTables(t *testing.T) {
	up, err := Load("../../porting/upstream")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := up.Save(dir); err != nil {
		t.Fatal(err)
	}
	again, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(up.Symbols, again.Symbols) || !slices.Equal(up.Facts, again.Facts) || !slices.Equal(up.Files, again.Files) {
		t.Error("tables are not read as written")
	}
	if text := Compare(up, again); text != "" {
		t.Errorf("differs from itself: %s", text)
	}
}

"""The signatures of the functions that rules may call, by Kubernetes minor.

Source: cel-go, common/stdlib/standard.go, ext/ and cel/library.go; k8s.io/apiserver, pkg/cel/library and
pkg/cel/environment/base.go.

One line has one overload: ``name(arguments) -> result id``; a receiver is before the dot. ``A``, ``B`` are type
parameters. A line ``# N`` begins the libraries of minor N, which new rules may use one minor later; a line ``@ N`` what
servers of minor N have at once, with the library of the arguments.
"""

from __future__ import annotations

SIGNATURES = """
_?_:_(bool, A, A) -> A conditional
_&&_(bool, bool) -> bool logical_and
_||_(bool, bool) -> bool logical_or
!_(bool) -> bool
@not_strictly_false(bool) -> bool
_==_(A, A) -> bool equals
_!=_(A, A) -> bool not_equals
_+_(bytes, bytes) -> bytes add_bytes
_+_(double, double) -> double
_+_(duration, duration) -> duration
_+_(duration, timestamp) -> timestamp
_+_(timestamp, duration) -> timestamp
_+_(int, int) -> int
_+_(list(A), list(A)) -> list(A) add_list
_+_(string, string) -> string add_string
_+_(uint, uint) -> uint
_/_(double, double) -> double
_/_(int, int) -> int
_/_(uint, uint) -> uint
_%_(int, int) -> int
_%_(uint, uint) -> uint
_*_(double, double) -> double
_*_(int, int) -> int
_*_(uint, uint) -> uint
-_(double) -> double
-_(int) -> int
_-_(double, double) -> double
_-_(duration, duration) -> duration
_-_(int, int) -> int
_-_(timestamp, duration) -> timestamp
_-_(timestamp, timestamp) -> duration
_-_(uint, uint) -> uint
_[_](list(A), int) -> A index_list
_[_](map(A, B), A) -> B index_map
@in(A, list(A)) -> bool in_list
@in(A, map(A, B)) -> bool
size(bytes) -> int
bytes.size() -> int
size(list(A)) -> int
list(A).size() -> int
size(map(A, B)) -> int
map(A, B).size() -> int
size(string) -> int
string.size() -> int
type(A) -> type(A)
bool(bool) -> bool
bool(string) -> bool
bytes(bytes) -> bytes
bytes(string) -> bytes string_to_bytes
double(double) -> double
double(int) -> double
double(string) -> double
double(uint) -> double
duration(duration) -> duration
duration(int) -> duration
duration(string) -> duration
dyn(A) -> dyn
int(int) -> int
int(double) -> int
int(duration) -> int
int(string) -> int
int(timestamp) -> int
int(uint) -> int
string(string) -> string
string(bool) -> string
string(bytes) -> string bytes_to_string
string(double) -> string
string(duration) -> string
string(int) -> string
string(timestamp) -> string
string(uint) -> string
timestamp(timestamp) -> timestamp
timestamp(int) -> timestamp
timestamp(string) -> timestamp
uint(uint) -> uint
uint(double) -> uint
uint(int) -> uint
uint(string) -> uint
string.contains(string) -> bool contains_string
string.endsWith(string) -> bool ends_with_string
string.startsWith(string) -> bool starts_with_string
string.matches(string) -> bool matches_string
timestamp.getFullYear() -> int
timestamp.getFullYear(string) -> int
timestamp.getMonth() -> int
timestamp.getMonth(string) -> int
timestamp.getDayOfYear() -> int
timestamp.getDayOfYear(string) -> int
timestamp.getDayOfMonth() -> int
timestamp.getDayOfMonth(string) -> int
timestamp.getDate() -> int
timestamp.getDate(string) -> int
timestamp.getDayOfWeek() -> int
timestamp.getDayOfWeek(string) -> int
timestamp.getHours() -> int
timestamp.getHours(string) -> int
duration.getHours() -> int
timestamp.getMinutes() -> int
timestamp.getMinutes(string) -> int
duration.getMinutes() -> int
timestamp.getSeconds() -> int
timestamp.getSeconds(string) -> int
duration.getSeconds() -> int
timestamp.getMilliseconds() -> int
timestamp.getMilliseconds(string) -> int
duration.getMilliseconds() -> int
string.charAt(int) -> string
string.indexOf(string) -> int
string.indexOf(string, int) -> int
list(A).indexOf(A) -> int
string.lastIndexOf(string) -> int
string.lastIndexOf(string, int) -> int
list(A).lastIndexOf(A) -> int
string.lowerAscii() -> string
string.replace(string, string) -> string
string.replace(string, string, int) -> string
string.split(string) -> list(string)
string.split(string, int) -> list(string)
string.substring(int) -> string
string.substring(int, int) -> string
string.trim() -> string
string.upperAscii() -> string
list(string).join() -> string
list(string).join(string) -> string
url(string) -> URL
isURL(string) -> bool
URL.getScheme() -> string
URL.getHost() -> string
URL.getHostname() -> string
URL.getPort() -> string
URL.getEscapedPath() -> string
URL.getQuery() -> map(string, list(string))
string.find(string) -> string
string.findAll(string) -> list(string)
string.findAll(string, int) -> list(string)
# 27
Authorizer.path(string) -> PathCheck
Authorizer.group(string) -> GroupCheck
Authorizer.serviceAccount(string, string) -> Authorizer
GroupCheck.resource(string) -> ResourceCheck
ResourceCheck.subresource(string) -> ResourceCheck
ResourceCheck.namespace(string) -> ResourceCheck
ResourceCheck.name(string) -> ResourceCheck
PathCheck.check(string) -> Decision
ResourceCheck.check(string) -> Decision
Decision.allowed() -> bool
Decision.reason() -> string
@ 28
matches(string, string) -> bool
# 28
optional.of(A) -> optional(A)
optional.ofNonZeroValue(A) -> optional(A)
optional.none() -> optional(A)
optional(A).value() -> A
optional(A).hasValue() -> bool
optional(A).or(optional(A)) -> optional(A)
optional(A).orValue(A) -> A
_?._(dyn, string) -> optional(A) select_optional_field
_[?_](list(A), int) -> optional(A)
_[?_](optional(list(A)), int) -> optional(A)
_[?_](map(A, B), A) -> optional(B)
_[?_](optional(map(A, B)), A) -> optional(B)
_[_](optional(list(A)), int) -> optional(A)
_[_](optional(map(A, B)), A) -> optional(B)
quantity(string) -> Quantity
isQuantity(string) -> bool
sign(Quantity) -> int
Quantity.isGreaterThan(Quantity) -> bool
Quantity.isLessThan(Quantity) -> bool
Quantity.compareTo(Quantity) -> int
Quantity.asApproximateFloat() -> double
Quantity.asInteger() -> int
Quantity.isInteger() -> bool
Quantity.add(Quantity) -> Quantity
Quantity.add(int) -> Quantity
Quantity.sub(Quantity) -> Quantity
Quantity.sub(int) -> Quantity
# 29
string.format(list(dyn)) -> string string_format
strings.quote(string) -> string strings_quote
sets.contains(list(A), list(A)) -> bool
sets.equivalent(list(A), list(A)) -> bool
sets.intersects(list(A), list(A)) -> bool
# 30
ip(string) -> IP
IP.family() -> int
ip.isCanonical(string) -> bool
IP.isUnspecified() -> bool
IP.isLoopback() -> bool
IP.isLinkLocalMulticast() -> bool
IP.isLinkLocalUnicast() -> bool
IP.isGlobalUnicast() -> bool
isIP(string) -> bool
cidr(string) -> CIDR
CIDR.containsIP(string) -> bool cidr_contains_ip_string
CIDR.containsIP(IP) -> bool
CIDR.containsCIDR(string) -> bool cidr_contains_cidr_string
CIDR.containsCIDR(CIDR) -> bool
CIDR.ip() -> IP cidr_ip
CIDR.prefixLength() -> int
CIDR.masked() -> CIDR
isCIDR(string) -> bool
@ 29
string(IP) -> string
string(CIDR) -> string
# 31
Format.validate(string) -> optional(list(string))
format.named(string) -> optional(Format)
# 32
cel.@mapInsert(map(A, B), A, B) -> map(A, B)
cel.@mapInsert(map(A, B), map(A, B)) -> map(A, B)
@ 32
list(A).last() -> optional(A)
list(A).first() -> optional(A)
optional.unwrap(list(optional(A))) -> list(A)
list(optional(A)).unwrapOpt() -> list(A)
# 33
semver(string) -> Semver
semver(string, bool) -> Semver
isSemver(string) -> bool
isSemver(string, bool) -> bool
Semver.isGreaterThan(Semver) -> bool
Semver.isLessThan(Semver) -> bool
Semver.compareTo(Semver) -> int
Semver.major() -> int
Semver.minor() -> int
Semver.patch() -> int
# 34
list(A).slice(int, int) -> list(A)
list(list(A)).flatten() -> list(A)
list(dyn).flatten(int) -> list(dyn)
lists.range(int) -> list(int)
list(A).reverse() -> list(A)
list(A).distinct() -> list(A)
"""

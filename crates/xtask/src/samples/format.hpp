#pragma once
#include <sstream>
#include <string>
#include <string_view>

namespace std {

inline string format(string_view text)
{
    return string(text);
}

template <class First, class... Rest>
string format(string_view text, const First& first, const Rest&... rest)
{
    const size_t at = text.find("{}");
    if (at == string_view::npos) {
        return string(text);
    }
    ostringstream out;
    out << text.substr(0, at) << first;
    return out.str() + format(text.substr(at + 2), rest...);
}

} // namespace std

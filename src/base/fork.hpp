// Threads do not survive fork(), but what refers to them is copied: who waits for threads asks here whose they are.
#pragma once

namespace tracenorm {

/// How many forks lie between this process and the one that loaded the library. Costs a load.
unsigned forks_so_far();

/// Keeps what cannot be destroyed in this process, because it would wait for threads of the parent.
void leave_to_parent(void* what);

}  // namespace tracenorm

// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Who reads a file: each says its name, or nothing once it is closed. Used by any thread. */
final class FileUsers {

    private final Set<Supplier<Optional<String>>> users = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Supplier<Optional<String>> last;

    /** Adds a user, for whom this allocates once: users who read by turns cost a look into a table. */
    void add(Supplier<Optional<String>> user) {
        if (user != last) {
            last = user;
            if (users.add(user)) {
                users.removeIf(other -> other != user && other.get().isEmpty());
            }
        }
    }

    /** Returns the name of a user that is open. */
    Optional<String> open() {
        return users.stream().flatMap(user -> user.get().stream()).findFirst();
    }
}

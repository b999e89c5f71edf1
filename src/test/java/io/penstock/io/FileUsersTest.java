// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class FileUsersTest {

    private final AtomicInteger asked = new AtomicInteger();
    private Optional<String> firstName = Optional.of("first");

    @Test
    void usersWhoReadByTurnsAreNotAskedWhetherTheyAreClosed() {
        FileUsers users = new FileUsers();
        Supplier<Optional<String>> first = () -> {
            asked.incrementAndGet();
            return firstName;
        };
        Supplier<Optional<String>> second = () -> {
            asked.incrementAndGet();
            return Optional.of("second");
        };
        users.add(first);
        users.add(second);
        int begin = asked.get();
        for (int i = 0; i < 100; i++) {
            users.add(first);
            users.add(second);
        }
        assertEquals(begin, asked.get());
    }

    @Test
    void aClosedUserIsForgottenWhenAnotherOneComes() {
        FileUsers users = new FileUsers();
        users.add(() -> {
            asked.incrementAndGet();
            return firstName;
        });
        assertEquals(Optional.of("first"), users.open());
        firstName = Optional.empty();
        assertEquals(Optional.empty(), users.open());
        users.add(() -> Optional.of("second"));
        int begin = asked.get();
        assertEquals(Optional.of("second"), users.open());
        assertEquals(begin, asked.get());
    }
}

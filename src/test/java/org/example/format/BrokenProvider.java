// SPDX-License-Identifier: Apache-2.0
package org.example.format;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;

/** Fails when it is asked for the content of a file that begins with {@code BAD}. */
public final class BrokenProvider implements StoreProvider {

    @Override
    public String name() {
        return "broken";
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        if (candidate.startsWith("BAD")) {
            throw new ArithmeticException("no such thing");
        }
        return false;
    }

    @Override
    public Store open(Location path, OpenOptions options) {
        throw new UnsupportedOperationException("opened");
    }
}

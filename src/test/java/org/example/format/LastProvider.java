// SPDX-License-Identifier: Apache-2.0
package org.example.format;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** Takes every regular file that no other provider takes, calls itself {@code tok}, and does not open tokens. */
public final class LastProvider implements StoreProvider {

    @Override
    public String name() {
        return "tok";
    }

    @Override
    public boolean isFallback() {
        return true;
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile();
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return new TokProvider().open(path, options);
    }
}

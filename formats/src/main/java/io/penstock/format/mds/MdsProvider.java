// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** MosaicML streaming shards: a folder with {@code index.json}, or that file. */
public final class MdsProvider implements StoreProvider {

    /** For the service loader. */
    public MdsProvider() {
    }

    @Override
    public String name() {
        return "mds";
    }

    @Override
    public boolean matchesContent(Candidate candidate) throws IOException {
        byte[] head = candidate.holds(MdsStore.INDEX_NAME)
                ? Candidate.headOf(candidate.path().resolve(MdsStore.INDEX_NAME)) : candidate.head();
        String text = new String(head, StandardCharsets.ISO_8859_1).strip();
        return text.startsWith("{") && text.contains("\"shards\"");
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.holds(MdsStore.INDEX_NAME) && candidate.holdsEnding(".mds")
                || candidate.isFile() && candidate.name().equals(MdsStore.INDEX_NAME);
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return MdsStore.open(path, null, options.decodeLimit());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** Token stores in parts, joined by a manifest. */
public final class ManifestProvider implements StoreProvider {

    static final String NAME = "manifest";

    private static final Pattern HEAD = Pattern.compile("\\s*\\{\\s*\"format\"\\s*:\\s*\"" + Manifest.FORMAT + "\"");

    /** For the service loader. */
    public ManifestProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean isTokens() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return HEAD.matcher(new String(candidate.head(), StandardCharsets.ISO_8859_1)).lookingAt();
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.nameEndsWith(Manifest.ENDING)
                || !candidate.isFile() && !candidate.isFolder() && manifestOf(candidate.path()).isFile();
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        Location beside = manifestOf(path);
        return ManifestStore.open(!path.isFile() && beside.isFile() ? beside : path);
    }

    private static Location manifestOf(Location path) {
        return path.resolveSibling(path.name() + Manifest.ENDING);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.format.webdataset.ShardList;
import io.penstock.io.Location;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.text.BraceExpansion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where remote files are kept. */
final class RemoteOptions {

    private static final char REPLACEMENT = '\ufffd';

    @Option(names = "--cache", paramLabel = "DIR",
            description = "Keep remote files in DIR, on a local disk; default: PENSTOCK_CACHE, or penstock in the"
                    + " user's cache folder.")
    private @Nullable Path folder;

    @Option(names = "--cache-size", paramLabel = "SIZE", converter = AmountText.Bytes.class,
            description = "The most that the cache may hold, for example 500G; default: PENSTOCK_CACHE_SIZE, or half of"
                    + " the disk.")
    private @Nullable Long bytes;

    @Option(names = "--offline", description = "Send no request: what the cache lacks is an error.")
    private boolean offline;

    /** Created when a remote file is first named. */
    private @Nullable RemoteFiles files;

    /** Returns the file or folder that an argument names: a path, or the URI of a remote file. */
    Location locate(String name) {
        return UsageException.valid(() -> RemoteFiles.isRemote(name) ? files().locate(name)
                : local(name));
    }

    private static Location local(String name) {
        Path path = Path.of(name);
        if (name.indexOf(REPLACEMENT) >= 0 && !Files.exists(path)) {
            throw new UsageException(name + ": found a name that is not UTF-8, expected UTF-8 (rename the file, or name"
                    + " its folder)");
        }
        return Location.of(path);
    }

    /**
     * Returns the files or folders that arguments name. A remote name with braces names several: the shell does not
     * expand them in quotes. Shards of tars are the exception: with braces they are one store.
     */
    List<Location> locate(List<String> names) {
        List<Location> found = new ArrayList<>();
        for (String name : names) {
            boolean isList = RemoteFiles.isRemote(name) && name.indexOf('{') >= 0 && !ShardList.hasShardName(name);
            for (String one : isList ? UsageException.valid(() -> BraceExpansion.expand(name)) : List.of(name)) {
                found.add(locate(one));
            }
        }
        return found;
    }

    RemoteFiles files() {
        RemoteFiles known = files;
        if (known == null) {
            known = RemoteFiles.of(settings());
            files = known;
        }
        return known;
    }

    RemoteSettings settings() {
        RemoteSettings settings = RemoteSettings.fromEnvironment();
        return settings.withCache(folder == null ? settings.cacheFolder() : folder,
                bytes == null ? settings.cacheBytes() : bytes)
                .withAccess(offline ? RemoteSettings.Access.OFFLINE : settings.access());
    }
}

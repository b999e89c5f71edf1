// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.io.remote.RemoteFiles;
import io.penstock.io.remote.RemoteSettings;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where remote files are kept. */
final class RemoteOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--cache", paramLabel = "DIR",
            description = "Keep remote files in DIR, on a local disk; default: PENSTOCK_CACHE, or penstock in the user's"
                    + " cache folder.")
    private Path folder;

    @Option(names = "--cache-size", paramLabel = "SIZE", converter = AmountText.Bytes.class,
            description = "The most that the cache may hold, for example 500G; default: PENSTOCK_CACHE_SIZE, or half of"
                    + " the disk.")
    private Long bytes;

    @Option(names = "--offline", description = "Send no request: what the cache lacks is an error.")
    private boolean offline;

    /** Created when a remote file is first named. */
    private RemoteFiles files;

    /** The file or folder that an argument names: a path, or the URI of a remote file. */
    Location locate(String name) {
        try {
            return RemoteFiles.isRemote(name) ? files().locate(name) : Location.of(Path.of(name));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    RemoteFiles files() {
        if (files == null) {
            files = RemoteFiles.of(settings());
        }
        return files;
    }

    RemoteSettings settings() {
        RemoteSettings settings = RemoteSettings.fromEnvironment();
        return settings.withCache(folder == null ? settings.cacheFolder() : folder,
                bytes == null ? settings.cacheBytes() : bytes)
                .withAccess(offline ? RemoteSettings.Access.OFFLINE : settings.access());
    }
}

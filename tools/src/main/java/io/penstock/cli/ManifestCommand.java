// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.io.Location;
import io.penstock.io.publish.Folder;
import io.penstock.json.Json;
import io.penstock.remote.RemoteFiles;
import io.penstock.store.IfExists;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code penstock manifest}. */
@Command(
        name = "manifest",
        description = "Joins parts of a token store, which several machines wrote, to one store.",
        footer = {"", "Example: penstock manifest out/corpus-*-of-00016.idx -o out/corpus",
            "", "The manifest names the parts; no token is read or copied. Every command takes it as a token store,"
                + " with windows that cross the parts. Parts that 'penstock tokenize --shard' made are put in order,"
                + " and all of them must be there. 'penstock merge' makes one pair of files of it."})
final class ManifestCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "PART",
            description = "The parts, each given by its path without an ending or by its .idx, .bin or .part.json.")
    private List<String> parts;

    @Option(names = {"-o", "--output"}, required = true, paramLabel = "STORE",
            description = "Store to write: STORE.manifest.json, also s3://BUCKET/KEY. The parts are in its folder or"
                    + " below it.")
    @SuppressWarnings("NullAway.Init")
    private String output;

    @Option(names = "--force", description = "Replace an existing manifest.")
    private boolean force;

    @Mixin
    private RemoteOptions remote;

    @Override
    public Integer call() throws IOException {
        IfExists ifExists = force ? IfExists.REPLACE : IfExists.FAIL;
        try (Target target = Target.of(named(output), remote, ifExists).inFolder()) {
            Location file = target.published(target.path());
            // A glob may give several files of a part.
            Set<ManifestPart> found = new LinkedHashSet<>();
            for (Location part : remote.locate(parts)) {
                found.add(ManifestPart.read(part).in(inside(file, part)));
            }
            Manifest manifest;
            try {
                manifest = Manifest.of(new ArrayList<>(found));
            } catch (IllegalArgumentException e) {
                throw new MalformedStoreException(file, e);
            }
            manifest.write(target.path(), file, ifExists);
            target.publish(ProgressBar.hidden());
            print(file, manifest);
        }
        return ExitCode.SUCCESS;
    }

    /** The manifest of a store. A remote folder stays as it is: it is refused as a target. */
    private static String named(String store) {
        boolean isRemote = RemoteFiles.isRemote(store);
        return store.endsWith(Manifest.ENDING) || isRemote && store.endsWith("/") ? store
                : (isRemote ? store : UsageException.valid(() -> Path.of(store))) + Manifest.ENDING;
    }

    private void print(Location file, Manifest manifest) {
        if (report.isJson()) {
            report.print(Json.members("store", file.toString(), "dtype", manifest.dtype().toString(), "tokenizer",
                    manifest.origin().tokenizer(), "parts", manifest.parts().size(), "documents",
                    manifest.documents(), "tokens", manifest.tokens()));
        } else {
            report.print(file + ": " + NumberText.count(manifest.tokens(), "token") + " of " + manifest.dtype() + " in "
                    + NumberText.count(manifest.documents(), "document") + " and "
                    + NumberText.count(manifest.parts().size(), "part") + " (" + manifest.origin().tokenizer() + ")\n");
        }
    }

    /** The folder of a part, relative to that of the manifest. */
    private static String inside(Location manifest, Location part) throws IOException {
        String folder = folder(manifest);
        String own = folder(part);
        if (!own.startsWith(folder)) {
            throw new MalformedStoreException(part, "a part in " + own, "one in " + folder
                    + ", the folder of the manifest, or below it");
        }
        return own.substring(folder.length()).replaceFirst("/$", "");
    }

    /** The folder of a file, with a slash behind it; of a local file without links. */
    private static String folder(Location file) throws IOException {
        String folder = file.local().isEmpty() ? file.parent().toString()
                : Folder.of(Path.of(file.path())).toRealPath().toString().replace('\\', '/');
        return folder.endsWith("/") ? folder : folder + "/";
    }
}

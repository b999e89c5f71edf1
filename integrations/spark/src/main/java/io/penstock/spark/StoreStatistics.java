// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.diagnose.data.DataProfile;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.format.manifest.Manifest;
import io.penstock.io.Location;
import io.penstock.loader.DataLoader;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * Statistics of all tokens of a store, part by part on a cluster. They are what {@code penstock stats STORE --window N
 * --save FILE} writes, and {@code penstock stats STORE --window N --baseline FILE} compares with.
 */
public final class StoreStatistics {

    private static final int BATCH_SIZE = 32;

    private StoreStatistics() {
    }

    /**
     * Reads all parts of a store, a task each. Windows do not cross parts here; the tokens behind a part's last window
     * are left out.
     *
     * @param spark the cluster, which sees the store under the same path
     * @param manifest the store
     * @param windowTokens the input tokens of a sample
     * @return the statistics; empty if no part has a window
     * @throws IOException if the manifest cannot be read
     */
    public static Optional<DataProfile> of(SparkSession spark, Path manifest, int windowTokens) throws IOException {
        Path file = manifest.toAbsolutePath();
        List<String> parts = Manifest.read(Location.of(file)).parts().stream()
                .map(part -> file.resolveSibling(part.path() + ".idx").toString()).toList();
        return JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(parts, parts.size())
                .map(part -> profile(Path.of(part), windowTokens)).collect().stream()
                .filter(profile -> !profile.isEmpty()).map(DataProfile::fromJson).reduce(DataProfile::merge);
    }

    /** The profile of a part as a text, empty if it is shorter than a window. */
    private static String profile(Path part, int windowTokens) throws IOException {
        try (TokenStore store = TokenStore.open(part); Device device = Device.host()) {
            TokenWindows windows = TokenWindows.of(store, windowTokens);
            if (windows.size() == 0) {
                return "";
            }
            DataStatistics statistics = DataStatistics.builder().every(1)
                    .maxValues(BATCH_SIZE * (windowTokens + 1)).build();
            try (DataLoader loader = DataLoader.builder(windows).batchSize(BATCH_SIZE).workers(1).device(device)
                    .collator(CausalLm.narrow().then(statistics)).endEpoch(1).open()) {
                while (loader.hasNext()) {
                    loader.next().close();
                }
            }
            return statistics.profile().map(DataProfile::toJson).orElse("");
        }
    }
}

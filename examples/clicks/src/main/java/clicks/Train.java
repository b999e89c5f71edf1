// SPDX-License-Identifier: Apache-2.0
package clicks;

import io.penstock.dataset.RecordFields;
import io.penstock.dataset.Split;
import io.penstock.format.csv.TableOptions;
import io.penstock.format.csv.TableOptions.Features;
import io.penstock.format.csv.TextTable;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** Trains a click model on a CSV file. Takes the file and the number of epochs. */
final class Train {

    private static final int BATCH = 256;
    private static final long SEED = 42;

    /** What the columns are: texts as hashes, three numbers in one tensor, of which some are missing. */
    private static final TableOptions TABLE = TableOptions.DEFAULT
            .withColumn("click", "f32")
            .withColumn("user", "hash:65536").withColumn("site", "hash:65536").withColumn("ad", "hash:65536")
            .withColumn("device", "hash:65536")
            .withFeatures("numbers", Features.of("hour", "age", "seconds").withMissing(0).withMask());

    private Train() {
    }

    public static void main(String[] args) throws IOException {
        try (TextTable table = TextTable.open(Path.of(args[0]), TABLE)) {
            RecordFields rows = RecordFields.of(table);
            for (String column : new String[] {"click", "user", "site", "ad", "device", "numbers", "numbers.mask"}) {
                rows = rows.and(column);
            }
            // All rows of a user are in one part, and stay there when rows are added.
            Split split = rows.split(0.9, SEED, "user");
            System.out.printf(Locale.ROOT, "%d rows to train on, %d to validate with%n", split.train().size(),
                    split.validation().size());
            Model model = new Model();
            for (int epoch = 1; epoch <= Integer.parseInt(args[1]); epoch++) {
                double loss = pass(model, DataLoader.builder(split.train()).batchSize(BATCH).shuffle(SEED + epoch)
                        .open(), true);
                double validation = pass(model, DataLoader.builder(split.validation()).batchSize(BATCH).open(), false);
                System.out.printf(Locale.ROOT, "epoch %d  loss %.4f  validation %.4f  (always the mean: %.4f)%n",
                        epoch, loss, validation, model.meanLoss());
            }
        }
    }

    /** Returns the mean loss. */
    private static double pass(Model model, DataLoader loader, boolean trains) {
        double sum = 0;
        long count = 0;
        try (loader) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    sum += model.loss(batch, trains);
                    count += batch.valid();
                }
            }
        }
        return sum / count;
    }
}

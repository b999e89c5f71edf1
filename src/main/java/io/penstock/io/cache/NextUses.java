// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** When blocks are read next, by the plans of all living processes. */
final class NextUses implements AutoCloseable {

    private final List<PlanTable> tables = new ArrayList<>();

    private NextUses() {
    }

    static NextUses of(Path plans) throws IOException {
        NextUses uses = new NextUses();
        try {
            for (Path plan : LiveFile.live(plans)) {
                try {
                    if (Files.size(plan) > 0) { // otherwise it is being created
                        uses.tables.add(PlanTable.read(plan));
                    }
                } catch (NoSuchFileException _) {
                    // ended meanwhile
                }
            }
            return uses;
        } catch (IOException | RuntimeException e) {
            uses.close();
            throw e;
        }
    }

    int plans() {
        return tables.size();
    }

    /** How many steps from now a block is read; {@link PlanTable#NEVER} if no plan says. */
    long stepsUntil(PlanTable.Key key, int block) {
        long least = PlanTable.NEVER;
        for (PlanTable table : tables) {
            least = Math.min(least, table.stepsUntil(key, block));
        }
        return least;
    }

    @Override
    public void close() throws IOException {
        for (PlanTable table : tables) {
            table.close();
        }
    }
}

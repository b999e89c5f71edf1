// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.io.ReadMode;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.LoaderInfo;
import io.penstock.loader.LoaderMemory;
import org.junit.jupiter.api.Test;

/** How the agent names the loaders that it finds. */
class TrainerAgentTest {

    private static LoaderInfo loader(String name, Role role) {
        return new LoaderInfo(name, role, "d", 64, 0, 1, 1, ReadMode.PREAD, "host", 1, false, false,
                new LoaderMemory(4, 0, 1, 4, 0));
    }

    @Test
    void loadersAreToldApartByTheirNumberNameAndRole() {
        assertEquals("loader 1 (batches of 64)", TrainerAgent.name(loader("penstock", Role.TRAIN), 1));
        assertEquals("loader 2, acme (batches of 64)", TrainerAgent.name(loader("acme", Role.TRAIN), 2));
        assertEquals("loader 3, validation (batches of 64)",
                TrainerAgent.name(loader("penstock", Role.VALIDATION), 3));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.Arrivals;
import java.util.Optional;

/** A dataset with the samples of another one, in their order, and other fields. */
interface OtherFields extends Dataset {

    Dataset base();

    @Override
    default long size() {
        return base().size();
    }

    @Override
    default Optional<Arrivals> arrivals() {
        return base().arrivals();
    }

    @Override
    default String name(long sample) {
        return base().name(sample);
    }

    @Override
    default String key(long sample) {
        return base().key(sample);
    }
}

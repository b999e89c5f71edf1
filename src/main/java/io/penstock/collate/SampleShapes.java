// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import java.util.List;

/** Which of several shapes each sample has, for {@link StackAndPad#shaped}. Immutable; any thread may use it. */
public interface SampleShapes {

    /** {@return the shapes of samples, at least one, of one number of dimensions; not to be changed} */
    List<long[]> shapes();

    /** {@return the number of samples} */
    long size();

    /**
     * {@return the number of a sample's shape among {@link #shapes}}
     *
     * @param sample the sample's index in the dataset
     */
    int shapeOf(long sample);
}

// SPDX-License-Identifier: Apache-2.0
/**
 * HDF5 files (HDF5 File Format Specification, version 3.0, with the changes of HDF5 2.0), read over a mapping without a
 * library: {@link io.penstock.format.hdf5.Hdf5Store}.
 *
 * <p>The classes follow the specification's structures, one each: the superblock, object headers and their messages,
 * the two B-trees, the three heaps, the arrays that index chunks.
 */
@NullMarked
package io.penstock.format.hdf5;

import org.jspecify.annotations.NullMarked;

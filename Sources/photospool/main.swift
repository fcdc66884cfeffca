print("photospool")
